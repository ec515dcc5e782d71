/** A plugin from outside with the tools that the official conformance suite calls, as far as operations can be them. */
const picture =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const group = { name: 'Conformance', description: 'Tools of the official conformance suite.' };

/** A tool whose answers have this one field. */
function tool(name, field, answer, more = {}) {
  const properties = { [field]: { type: 'string' } };
  return {
    id: name,
    method: 'POST',
    path: `/conformance/${name}`,
    tool: name,
    scope: null,
    group,
    summary: name,
    description: 'A tool of the official conformance suite.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: null,
    body: null,
    answers: {
      200: { type: 'object', properties, required: [field], additionalProperties: false },
    },
    errors: [],
    examples: [],
    handler: async () => ({ status: 200, body: { [field]: answer() } }),
    ...more,
  };
}

/** A tool that asks first, where the key has `confirm_sends`. */
function asking(name) {
  return tool(name, 'text', () => 'done', { question: async () => 'May this be done?' });
}

function plugin({ log }) {
  const boot = async (app) => {
    app.operations.add(
      tool('test_simple_text', 'text', () => 'This is a simple text response for testing.'),
      tool('test_image_content', 'image', () => picture, { picture: 'image' }),
      tool('test_error_handling', 'text', () => {
        throw new Error('This tool intentionally returns an error for testing');
      }),
      tool('test_logging_tool', 'text', () => {
        log.warn({}, 'the tool that logs was called');
        return 'logged';
      }),
      asking('test_streaming_elicitation'),
      asking('test_input_required_result_elicitation'),
      asking('test_input_required_result_request_state'),
      asking('test_input_required_result_tampered_state'),
    );
  };
  return Object.assign(boot, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('plugin-meta')]: { name: 'conformance', dependencies: [] },
  });
}

export default plugin;
