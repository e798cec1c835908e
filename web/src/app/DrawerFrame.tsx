import { X } from "lucide-react";
import { type CSSProperties, lazy, Suspense, useEffect, useRef } from "react";
import { useWords } from "../lib/i18n";
import { useStore } from "../lib/store";
import { conversation } from "../state/conversation";
import { clampedWidth, NARROWEST_DRAWER, prefer, preferences, WIDEST_DRAWER } from "../state/preferences";
import { sourcesByNumber } from "../state/select";
import { closeDrawer, type Drawer, openDrawer } from "../state/view";
import { Boundary } from "../ui/Boundary";
import { Button } from "../ui/Button";
import { Resizer } from "../ui/Resizer";
import { SourcePanel, SourcesPanel } from "./sourcePanels";
import { words } from "./words";

const FilesPanel = lazy(async () => ({ default: (await import("../features/files")).FilesPanel }));

/** The panel at the end of the page: sources, a footnote that was opened, files. */
export function DrawerFrame({ drawer }: { drawer: Drawer }) {
  const t = useWords(words);
  const width = useStore(preferences, (liked) => liked.drawerWidth);
  const shown = drawer.kind === "files" ? "files" : "sources";
  const sources = useStore(conversation, (known) => sourcesByNumber(known.turns).size);
  const files = useStore(conversation, (known) => known.files.length);
  const close = useRef<HTMLButtonElement>(null);
  useFocusReturn(close);
  return (
    <aside
      className="app-drawer"
      aria-label={t.panel}
      style={{ "--drawer": `${width}px` } as CSSProperties}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        closeDrawer();
      }}
    >
      <Resizer
        label={t.resizePanel}
        width={width}
        min={NARROWEST_DRAWER}
        max={WIDEST_DRAWER}
        onResize={(next) => prefer({ drawerWidth: clampedWidth(next) })}
      />
      <header className="app-drawer-head">
        <Button look="quiet" aria-pressed={shown === "sources"} onClick={() => openDrawer({ kind: "sources" })}>
          {t.sources(sources)}
        </Button>
        <Button look="quiet" aria-pressed={shown === "files"} onClick={() => openDrawer({ kind: "files" })}>
          {t.files(files)}
        </Button>
        <span className="app-space" />
        <Button ref={close} look="quiet" icon={X} label={t.closePanel} onClick={closeDrawer} />
      </header>
      <div className="app-drawer-body">
        <Boundary key={drawer.kind}>
          <Suspense>
            {drawer.kind === "files" && <FilesPanel />}
            {drawer.kind === "sources" && <SourcesPanel />}
            {drawer.kind === "source" && <SourcePanel opened={drawer} />}
          </Suspense>
        </Boundary>
      </div>
    </aside>
  );
}

/** The keyboard goes into the panel when it opens, and back to where it was when it closes. */
function useFocusReturn(first: { current: HTMLElement | null }): void {
  useEffect(() => {
    const before = document.activeElement;
    if (before instanceof HTMLElement && before.matches(":focus-visible")) first.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected && !document.querySelector("dialog[open]"))
        before.focus({ preventScroll: true });
    };
  }, [first]);
}
