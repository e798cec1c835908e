import type { FoundSession } from "../../protocol/events.gen";

export type Age = "today" | "yesterday" | "week" | "earlier";

export interface Days {
  age: Age;
  sessions: readonly FoundSession[];
}

/** By the days of whoever is looking. The order is that of the list; what is changed in the future, by a clock that is
 * wrong, is today's. */
export function byDays(sessions: readonly FoundSession[], now = new Date()): Days[] {
  const groups: { age: Age; sessions: FoundSession[] }[] = [];
  for (const session of sessions) {
    const age = ageOf(new Date(session.updated_at), now);
    const known = groups.find((group) => group.age === age);
    if (known) known.sessions.push(session);
    else groups.push({ age, sessions: [session] });
  }
  return groups;
}

function ageOf(date: Date, now: Date): Age {
  // Days are counted by the calendar: those on which clocks change have 23 or 25 hours.
  const midnight = (daysAgo: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo);
  if (!(date < midnight(0))) return "today";
  if (date >= midnight(1)) return "yesterday";
  return date >= midnight(7) ? "week" : "earlier";
}
