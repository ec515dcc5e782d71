import { Type } from 'typebox';
import { Closed } from '../../../core/schemas.ts';
import { sendTarget } from '../../../core/sending.ts';

/** The body of `POST /messages`. */
export function sendBody(maxText: number) {
  return Closed({
    ...sendTarget,
    text: Type.String({ minLength: 1, maxLength: maxText, description: 'What the contact reads.' }),
    media_url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_048,
        description: 'https URL of an image, video, audio file or document.',
      }),
    ),
  });
}
