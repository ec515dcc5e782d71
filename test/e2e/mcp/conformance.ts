/** Scenarios of the official conformance suite that a server of named tools can be put through. */
export const suitable: readonly string[] = [
  'server-initialize',
  'ping',
  'tools-list',
  'dns-rebinding-protection',
];

const testTool =
  'calls a tool that the suite expects under its own name; here the tools are the operations';
const resources = 'the server offers no resources';
const prompts = 'the server offers no prompts';
const sessions =
  'the server keeps no sessions and opens no streams, so that any process answers any call';

/** The others, each with the reason why it is left out. */
export const leftOut: Readonly<Record<string, string>> = {
  'logging-set-level': 'the server sends no log messages to its clients',
  'completion-complete': 'the server completes no arguments: it has neither prompts nor resources',
  'tools-call-simple-text': testTool,
  'tools-call-image': testTool,
  'tools-call-audio': testTool,
  'tools-call-embedded-resource': testTool,
  'tools-call-mixed-content': testTool,
  'tools-call-with-logging': testTool,
  'tools-call-error': testTool,
  'tools-call-with-progress': testTool,
  'tools-call-sampling': testTool,
  'tools-call-elicitation': testTool,
  'json-schema-2020-12': testTool,
  'elicitation-sep1034-defaults': testTool,
  'elicitation-sep1330-enums': testTool,
  'server-sse-polling': sessions,
  'server-sse-multiple-streams': sessions,
  'resources-list': resources,
  'resources-read-text': resources,
  'resources-read-binary': resources,
  'resources-templates-read': resources,
  'resources-subscribe': resources,
  'resources-unsubscribe': resources,
  'prompts-list': prompts,
  'prompts-get-simple': prompts,
  'prompts-get-with-args': prompts,
  'prompts-get-embedded-resource': prompts,
  'prompts-get-with-image': prompts,
};
