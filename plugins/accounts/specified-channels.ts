/** The channels that the specification names, whose refusals keep its codes; every other one comes with its driver. */
export const specifiedChannels: ReadonlySet<string> = new Set(['msgapp_web', 'chatapp']);
