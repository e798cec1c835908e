import { Ellipsis, FileText, PackageOpen, Pencil, Trash2 } from "lucide-react";
import { memo, useRef, useState } from "react";
import { moment } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { api } from "../../protocol/client";
import type { FoundSession } from "../../protocol/events.gen";
import { conversation } from "../../state/conversation";
import { addressOf } from "../../state/router";
import { activeTurn } from "../../state/select";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { Found } from "./Found";
import { follow } from "./openSession";
import { Rename } from "./Rename";
import { words } from "./words";

interface EntryProps {
  session: FoundSession;
  current: boolean;
  query: string;
  onRemove: (session: FoundSession) => void;
}

export const Entry = memo(function Entry({ session, current, query, onRemove }: EntryProps) {
  const t = useWords(words);
  const [renaming, setRenaming] = useState(false);
  const row = useRef<HTMLLIElement>(null);
  const title = session.title || t.untitled;
  const renamed = (byKey: boolean) => {
    setRenaming(false);
    if (byKey) requestAnimationFrame(() => row.current?.querySelector("a")?.focus());
  };
  return (
    <li ref={row} className="sessions-entry" data-current={current || undefined}>
      {renaming ? (
        <Rename session={session} onDone={renamed} />
      ) : (
        <>
          <Title session={session} current={current} query={query} onRename={() => setRenaming(true)} />
          <Menu
            look="quiet"
            small
            icon={Ellipsis}
            label={t.actions(title)}
            items={[
              { key: "rename", icon: Pencil, text: t.rename, onChoose: () => setRenaming(true) },
              { key: "export", icon: PackageOpen, text: t.exportBundle, href: api.exportUrl(session.id) },
              { key: "remove", icon: Trash2, text: t.remove, look: "danger", onChoose: () => onRemove(session) },
            ]}
          />
        </>
      )}
    </li>
  );
});

function Title({ session, current, query, onRename }: Omit<EntryProps, "onRemove"> & { onRename: () => void }) {
  const t = useWords(words);
  const locale = useLocale();
  const title = session.title || t.untitled;
  const active = useActive(session, current);
  const file = fileOf(session);
  return (
    <a
      className="sessions-link"
      href={addressOf(session.id)}
      aria-current={current ? "page" : undefined}
      title={`${title}\n${moment(session.updated_at, locale)}`}
      onClick={(event) => follow(event, session.id, { message: session.message_id, file, query })}
      onKeyDown={(event) => {
        if (event.key === "F2") onRename();
      }}
    >
      <span className="sessions-title">
        {active && <span className="sessions-dot" aria-hidden="true" />}
        <span className="sessions-name" dir="auto">
          <Found text={title} query={query} />
        </span>
        {active && <span className="ui-hidden">, {t.answering}</span>}
      </span>
      {query && session.excerpt && session.excerpt !== session.title && (
        <span className="sessions-excerpt" dir="auto">
          {file && (
            <span className="sessions-file" title={file}>
              <Icon of={FileText} /> {file.split("/").at(-1)}
            </span>
          )}
          <Found text={session.excerpt} query={query} />
        </span>
      )}
    </a>
  );
}

/** The file in which the words stand, where they do in one. */
function fileOf(session: FoundSession): string | null {
  return "path" in session && typeof session.path === "string" ? session.path : null;
}

/** Of the open session the page knows it at once, of others when the list is asked for again. */
function useActive(session: FoundSession, current: boolean): boolean {
  const isAnswering = useStore(conversation, (known) => current && activeTurn(known) !== null);
  const isLoaded = useStore(conversation, (known) => known.state === "ready");
  return current && isLoaded ? isAnswering : session.active_run_id !== null;
}
