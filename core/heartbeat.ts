/** How long after its last heartbeat a process counts as dead, with all that it holds; milliseconds. */
export const deadAfterMs = 8_000;
