import { lazy, Suspense, useEffect } from "react";
import { ChatLog, Evidence, FootnoteChip, type FootnoteChipProps, useUnseenAnswer } from "../features/chat";
import { Composer, DropZone } from "../features/composer";
import { SessionSidebar } from "../features/sessions";
import { Welcome } from "../features/welcome";
import { useWords } from "../lib/i18n";
import { useStore } from "../lib/store";
import { conversation } from "../state/conversation";
import { preferences } from "../state/preferences";
import { retryNow } from "../state/runStream";
import { isReconnecting } from "../state/session";
import { closeBeside, closeDrawer, closeSheet, view } from "../state/view";
import { Spinner } from "../ui/Badge";
import { Boundary } from "../ui/Boundary";
import { Button } from "../ui/Button";
import { useNarrow, useOverlay, usePhone } from "./breakpoints";
import { DrawerFrame } from "./DrawerFrame";
import { Header } from "./Header";
import { loadSourcesSoon, SourcePanel } from "./sourcePanels";
import { words } from "./words";

const FileViewer = lazy(async () => ({ default: (await import("../features/files")).FileViewer }));

const FOOTNOTES = {
  chip: (footnote: FootnoteChipProps) => <FootnoteChip {...footnote} inFile />,
  explain: (footnote: FootnoteChipProps) => <Evidence {...footnote} />,
};

/** The rooms of the page: conversations at the start, the open one in the middle, its sources and files at the end. */
export function Shell() {
  const t = useWords(words);
  const phone = usePhone();
  const narrow = useNarrow();
  const overlay = useOverlay();
  const sheet = useStore(view, (shown) => shown.sheet);
  const hasRoom = useStore(conversation, (known) => known.sessionId !== null);
  const drawer = useStore(view, (shown) => (hasRoom ? shown.drawer : null));
  const file = useStore(view, (shown) => (hasRoom ? shown.file : null));
  const beside = useStore(view, (shown) => shown.beside);
  const sidebar = useStore(preferences, (liked) => liked.sidebar);
  useTitle();
  useEffect(loadSourcesSoon, []);
  return (
    <DropZone>
      <div className="app-shell">
        <a className="app-skip" href="#composer">
          {t.skip}
        </a>
        {(phone ? sheet : sidebar && !(narrow && drawer)) && (
          <div className="app-sidebar">
            <Boundary>
              <SessionSidebar />
            </Boundary>
          </div>
        )}
        {phone && sheet && <div className="app-shade" onPointerDown={closeSheet} />}
        {overlay && !phone && drawer && <div className="app-shade" data-for="drawer" onPointerDown={closeDrawer} />}
        <div className="app-middle" inert={(phone && sheet) || (overlay && drawer !== null)}>
          <Header />
          <Banner />
          <Conversation />
        </div>
        {drawer && <DrawerFrame drawer={drawer} />}
      </div>
      {file !== null && (
        <Boundary>
          <Suspense>
            <FileViewer
              path={file}
              beside={
                beside && (
                  <Suspense>
                    <SourcePanel opened={beside} onBack={closeBeside} />
                  </Suspense>
                )
              }
              footnotes={FOOTNOTES}
            />
          </Suspense>
        </Boundary>
      )}
    </DropZone>
  );
}

function Conversation() {
  const isNew = useStore(conversation, (known) => known.turns.length === 0 && known.state === "ready");
  const isMissing = useStore(conversation, (known) => known.state === "missing");
  return (
    <main className="app-main">
      <Boundary>{isNew ? <Welcome /> : <ChatLog />}</Boundary>
      {!isMissing && (
        <div className="app-composer" id="composer">
          <Composer />
        </div>
      )}
    </main>
  );
}

function Banner() {
  const t = useWords(words);
  const reconnecting = useStore(conversation, (known) => isReconnecting(known));
  return (
    <div role="status" className="app-banner-place">
      {reconnecting && (
        <div className="app-banner">
          <Spinner />
          <span>{t.reconnecting}</span>
          <Button small onClick={retryNow}>
            {t.tryNow}
          </Button>
        </div>
      )}
    </div>
  );
}

function useTitle(): void {
  const title = useStore(conversation, (known) => known.head?.title ?? "");
  const unseen = useUnseenAnswer();
  useEffect(() => {
    document.title = `${unseen ? "● " : ""}${title ? `${title} · ` : ""}Footnote`;
  }, [title, unseen]);
}
