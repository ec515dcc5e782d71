/** Parts of events that have values of their own. */
const parts: readonly string[] = ['step', 'from', 'media', 'contacts', 'messages', 'contact'];

/**
 * The place of the first value that an event, or a part of it, has by a prototype alone, as a getter of a class:
 * `from.name`. Null: there is none. Methods are no values. Pure.
 */
export function inheritedValue(event: object, place = ''): string | null {
  for (const name of Array.isArray(event) ? [] : inheritedNames(event)) {
    const value: unknown = Reflect.get(event, name);
    if (value !== undefined && typeof value !== 'function') return place + name;
  }
  for (const [name, part] of Object.entries(event)) {
    const isPart = Array.isArray(event) || parts.includes(name);
    if (!isPart || typeof part !== 'object' || part === null) continue;
    const inherited = inheritedValue(part, `${place}${name}.`);
    if (inherited !== null) return inherited;
  }
  return null;
}

/** The names that the prototypes of an object have, but for what every object has. */
function inheritedNames(value: object): readonly string[] {
  const names: string[] = [];
  let prototype: object | null = Object.getPrototypeOf(value);
  while (prototype !== null && prototype !== Object.prototype) {
    names.push(...Object.getOwnPropertyNames(prototype));
    prototype = Object.getPrototypeOf(prototype);
  }
  return names.filter((name) => !Object.hasOwn(value, name));
}
