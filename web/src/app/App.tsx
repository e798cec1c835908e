import { lazy, Suspense, useEffect } from "react";
import { useWords } from "../lib/i18n";
import { useStore } from "../lib/store";
import { catalog, readCatalog } from "../state/catalog";
import { view } from "../state/view";
import { Boundary } from "../ui/Boundary";
import { Button } from "../ui/Button";
import "./app.css";
import { listenForShortcuts } from "./keys";
import { Login } from "./Login";
import { closeQuestionOnStep } from "./questions";
import { Shell } from "./Shell";
import { Toasts } from "./Toasts";
import { words } from "./words";

// What is opened now and then comes when it is opened.
const SettingsDialog = lazy(async () => ({ default: (await import("../features/settings")).SettingsDialog }));
const ShortcutsDialog = lazy(async () => ({ default: (await import("../features/settings")).ShortcutsDialog }));

export function App() {
  const visit = useStore(catalog, (known) => known.visit);
  useEffect(() => (visit === "known" ? listenForShortcuts() : undefined), [visit]);
  useEffect(closeQuestionOnStep, []);
  return (
    <>
      <Boundary>
        {visit === "known" && <Shell />}
        {visit === "nobody" && <Login />}
        {(visit === "unknown" || visit === "unreachable") && <Threshold />}
      </Boundary>
      <Suspense>{visit === "known" && <OpenDialog />}</Suspense>
      <Toasts />
    </>
  );
}

function OpenDialog() {
  const dialog = useStore(view, (shown) => shown.dialog);
  if (dialog === "settings") return <SettingsDialog />;
  return dialog === "shortcuts" ? <ShortcutsDialog /> : null;
}

/** Before it is known who is there. */
function Threshold() {
  const t = useWords(words);
  const unreachable = useStore(catalog, (known) => known.visit === "unreachable");
  return (
    <main className="app-threshold">
      <h1>Footnote</h1>
      {unreachable ? (
        <>
          <p>{t.unreachable}</p>
          <p className="app-soft">{t.unreachableNote}</p>
          <Button look="main" onClick={() => void readCatalog()}>
            {t.tryAgain}
          </Button>
        </>
      ) : (
        <p className="app-soft">{t.opening}</p>
      )}
    </main>
  );
}
