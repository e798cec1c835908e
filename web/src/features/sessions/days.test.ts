import { expect, test } from "vitest";
import type { FoundSession } from "../../protocol/events.gen";
import { byDays } from "./days";

const NOW = new Date(2026, 10, 16, 0, 30);
const changed = (...date: [number, number, number, number]) =>
  ({ id: date.join(), updated_at: new Date(...date).toISOString() }) as FoundSession;

test("sessions are grouped by the days of the reader", () => {
  const sessions = [
    changed(2026, 10, 17, 9),
    changed(2026, 10, 16, 0),
    changed(2026, 10, 15, 23),
    changed(2026, 10, 14, 23),
    changed(2026, 10, 9, 0),
    changed(2026, 10, 8, 23),
    changed(2025, 0, 1, 0),
  ];
  expect(byDays(sessions, NOW).map(({ age, sessions: those }) => [age, those.length])).toEqual([
    ["today", 2],
    ["yesterday", 1],
    ["week", 2],
    ["earlier", 2],
  ]);
});

test("days without sessions are left out", () => {
  expect(byDays([], NOW)).toEqual([]);
  expect(byDays([changed(2020, 1, 1, 1)], NOW).map(({ age }) => age)).toEqual(["earlier"]);
});
