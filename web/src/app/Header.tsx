import { Archive, BookOpenText, EllipsisVertical, FolderOpen, PackageOpen, PanelLeft, Plus } from "lucide-react";
import { number } from "../lib/format";
import { useLocale, useWords } from "../lib/i18n";
import { useStore } from "../lib/store";
import { api } from "../protocol/client";
import { conversation } from "../state/conversation";
import { preferences } from "../state/preferences";
import { navigate } from "../state/router";
import { sourcesByNumber } from "../state/select";
import { toggleDrawer, toggleSidebar, view } from "../state/view";
import { Button } from "../ui/Button";
import { Menu } from "../ui/Menu";
import { useNarrow, usePhone } from "./breakpoints";
import { words } from "./words";

export function Header() {
  const t = useWords(words);
  const phone = usePhone();
  const title = useStore(conversation, (known) => known.head?.title ?? "");
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const narrow = useNarrow();
  const hasDrawer = useStore(view, (shown) => shown.drawer !== null);
  const wanted = useStore(preferences, (liked) => liked.sidebar);
  const open = wanted && !(narrow && hasDrawer && sessionId !== null);
  const sheet = useStore(view, (shown) => shown.sheet);
  return (
    <header className="app-header">
      <Button
        look="quiet"
        icon={PanelLeft}
        label={t.menu}
        aria-expanded={phone ? sheet : open}
        onClick={toggleSidebar}
      />
      {(phone || !open) && sessionId !== null && (
        <Button look="quiet" icon={Plus} label={t.newConversation} onClick={() => navigate(null)} />
      )}
      {sessionId !== null ? (
        <h1 className="app-title" title={title}>
          <span className="app-title-text" dir="auto">
            {title || t.newConversation}
          </span>
        </h1>
      ) : (
        <span className="app-title" />
      )}
      {sessionId !== null && <DrawerButtons />}
      {sessionId !== null && (
        <Menu
          look="quiet"
          icon={EllipsisVertical}
          label={t.more}
          items={[
            {
              key: "export",
              icon: PackageOpen,
              text: t.exportBundle,
              note: t.exportNote,
              href: api.exportUrl(sessionId),
            },
            { key: "archive", icon: Archive, text: t.archive, href: api.archiveUrl(sessionId) },
          ]}
        />
      )}
    </header>
  );
}

function DrawerButtons() {
  const t = useWords(words);
  const locale = useLocale();
  const sources = useStore(conversation, (known) => sourcesByNumber(known.turns).size);
  const files = useStore(conversation, (known) => known.files.length);
  const kind = useStore(view, (shown) => shown.drawer?.kind ?? null);
  return (
    <>
      <Button
        look="quiet"
        icon={BookOpenText}
        title={t.sources(sources)}
        aria-pressed={kind === "sources" || kind === "source"}
        onClick={() => toggleDrawer("sources")}
      >
        <span className="ui-hidden">{t.sources(sources)}</span>
        {sources > 0 && <span aria-hidden="true">{number(sources, locale)}</span>}
      </Button>
      <Button
        look="quiet"
        icon={FolderOpen}
        title={t.files(files)}
        aria-pressed={kind === "files"}
        onClick={() => toggleDrawer("files")}
      >
        <span className="ui-hidden">{t.files(files)}</span>
        {files > 0 && <span aria-hidden="true">{number(files, locale)}</span>}
      </Button>
    </>
  );
}
