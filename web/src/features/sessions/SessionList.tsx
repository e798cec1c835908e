import { useCallback, useId, useRef, useState } from "react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import type { FoundSession } from "../../protocol/events.gen";
import { conversation } from "../../state/conversation";
import { addressOf } from "../../state/router";
import { refreshSessions, searchSessions, sessionList } from "../../state/sessions";
import { Spinner } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { linksIn, move } from "./arrowKeys";
import { type Age, byDays } from "./days";
import { Entry } from "./Entry";
import { More } from "./More";
import { Remove } from "./Remove";
import { words } from "./words";

export function SessionList() {
  const t = useWords(words);
  const list = useStore(sessionList);
  const { query, sessions, nextCursor, state } = list;
  const [removing, setRemoving] = useState<{ session: FoundSession; neighbour: HTMLElement | null } | null>(null);
  const room = useRef<HTMLDivElement>(null);
  const ask = useCallback((session: FoundSession) => {
    setRemoving({ session, neighbour: neighbourOf(room.current, session.id) });
  }, []);
  const groups = query ? null : byDays(sessions);
  const done = (removed: boolean) => {
    setRemoving(null);
    if (removed) requestAnimationFrame(() => removing?.neighbour?.focus());
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys lead through the links inside.
    <div ref={room} className="sessions-list" aria-busy={state === "loading"} onKeyDown={move}>
      <p className="ui-hidden" role="status">
        {query && state === "ready" && t.found(sessions.length, nextCursor !== null)}
      </p>
      {sessions.length === 0 && <Nothing />}
      {groups?.map((group) => (
        <Part key={group.age} age={group.age} sessions={group.sessions} onRemove={ask} />
      ))}
      {groups === null && <Entries sessions={sessions} query={query} onRemove={ask} />}
      {nextCursor !== null && <More key={query} shown={sessions.length} />}
      {removing && <Remove session={removing.session} onDone={done} />}
    </div>
  );
}

interface EntriesProps {
  sessions: readonly FoundSession[];
  query?: string;
  onRemove: (session: FoundSession) => void;
}

function Part({ age, sessions, onRemove }: EntriesProps & { age: Age }) {
  const t = useWords(words);
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="sessions-day">
        {t[age]}
      </h2>
      <Entries sessions={sessions} onRemove={onRemove} />
    </section>
  );
}

function Entries({ sessions, query = "", onRemove }: EntriesProps) {
  const open = useStore(conversation, (known) => known.sessionId);
  return (
    <ul>
      {sessions.map((session) => (
        <Entry key={session.id} session={session} current={session.id === open} query={query} onRemove={onRemove} />
      ))}
    </ul>
  );
}

/** Why the list is empty. */
function Nothing() {
  const t = useWords(words);
  const { query, state } = useStore(sessionList);
  if (state === "loading")
    return (
      <p className="sessions-nothing">
        <Spinner /> {t.loading}
      </p>
    );
  if (state === "failed")
    return (
      <div className="sessions-nothing">
        <p role="alert">{t.failed}</p>
        <Button small onClick={() => void refreshSessions()}>
          {t.retry}
        </Button>
      </div>
    );
  if (query === "") return <p className="sessions-nothing">{t.none}</p>;
  return (
    <div className="sessions-nothing">
      <p dir="auto">{t.nothingFound(query)}</p>
      <Button small onClick={() => void searchSessions("")}>
        {t.clearSearch}
      </Button>
    </div>
  );
}

/** Where the keyboard goes when an entry is gone. */
function neighbourOf(room: HTMLElement | null, sessionId: string): HTMLElement | null {
  const links = linksIn(room);
  const at = links.findIndex((link) => link.pathname === addressOf(sessionId));
  return links[at + 1] ?? links[at - 1] ?? room?.parentElement?.querySelector<HTMLElement>("a") ?? null;
}
