import type { FastifyInstance } from 'fastify';
import type { OperationRegistry } from '../../../core/operation-registry.ts';
import { openApiDocument } from './document.ts';
import { guideText, readGuides } from './guides.ts';
import { type LlmsParts, llmsFullText, llmsText } from './llms.ts';

/**
 * Serves the documentation as text, for language models and other readers: `/llms.txt`, `/llms-full.txt` and the guides
 * as Markdown, `/v1/docs/NAME.md`. None of it needs a key. `/docs` leads to the reference, and so does `/` without a console.
 * @param publicUrl asked when a text is first read: by then the gateway listens
 */
export async function registerTexts(
  scope: FastifyInstance,
  registry: OperationRegistry,
  publicUrl: () => string,
): Promise<void> {
  let made: LlmsParts | undefined;
  const parts = (): LlmsParts => {
    const url = publicUrl();
    made ??= {
      operations: registry.all(),
      url,
      document: openApiDocument(registry.all(), registry.outgoing(), `${url}/v1`),
      guides: readGuides(),
    };
    return made;
  };
  const texts = { '/llms.txt': llmsText, '/llms-full.txt': llmsFullText };
  for (const [path, textOf] of Object.entries(texts)) {
    let text: string | undefined;
    scope.get(path, async (_request, reply) => {
      text ??= textOf(parts());
      return reply.type('text/plain; charset=utf-8').send(text);
    });
  }
  for (const { name } of readGuides()) {
    scope.get(`/v1/docs/${name}.md`, async (_request, reply) => {
      const { guides, url } = parts();
      const guide = guides.find((one) => one.name === name);
      if (guide === undefined) return reply.callNotFound();
      return reply
        .type('text/markdown; charset=utf-8')
        .send(guideText(guide, guides, `${url}/v1/docs`));
    });
  }
  // Relative, so that they also work below another path.
  scope.get('/docs', (_request, reply) => reply.redirect('v1/docs'));
  scope.get('/', (_request, reply) => {
    const hasConsole = scope.hasRoute({ method: 'GET', url: '/console' });
    return reply.redirect(hasConsole ? 'console' : 'v1/docs');
  });
}
