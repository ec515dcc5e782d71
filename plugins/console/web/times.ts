const time = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const yearly = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
});
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const number = new Intl.NumberFormat();

/** `09:41`, or the day as `dayOf` has it for another one. */
export function shortTime(at: string, now = new Date()): string {
  const date = new Date(at);
  return isSameDay(date, now) ? time.format(date) : dayOf(at, now);
}

/** `09:41` */
export function clock(at: string): string {
  return time.format(new Date(at));
}

/** `Jan 31`, or `Jan 31, 2025` for another year. */
export function dayOf(at: string, now = new Date()): string {
  const date = new Date(at);
  return (date.getFullYear() === now.getFullYear() ? day : yearly).format(date);
}

/** `Jan 31` for the day in UTC `2026-01-31`, wherever the reader is. */
export function utcDay(day: string): string {
  // Without a zone it is noon where the reader is, so that its name stays.
  return dayOf(`${day}T12:00:00`);
}

/** Date and time to the second. */
export function fullTime(at: string): string {
  return full.format(new Date(at));
}

/** `2,000` */
export function count(value: number): string {
  return number.format(value);
}

/** The day where the reader is, as a date field takes it: `2026-01-31`. */
export function today(now = new Date()): string {
  const [month, day] = [now.getMonth() + 1, now.getDate()];
  return [now.getFullYear(), ...[month, day].map((part) => String(part).padStart(2, '0'))].join(
    '-',
  );
}

function isSameDay(one: Date, other: Date): boolean {
  return one.toDateString() === other.toDateString();
}
