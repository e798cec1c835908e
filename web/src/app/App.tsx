import { lazy, Suspense, useEffect } from "react";
import { useWords } from "../lib/i18n";
import { useStore } from "../lib/store";
import { catalog, readCatalog } from "../state/catalog";
import { view } from "../state/view";
import { Boundary } from "../ui/Boundary";
import { Button } from "../ui/Button";
import "./app.css";
import { closeConfirmationOnBack } from "./confirmations";
import { listenForShortcuts } from "./keyboard";
import { Login } from "./Login";
import { Shell } from "./Shell";
import { Toasts } from "./Toasts";
import { words } from "./words";

// What is opened now and then comes when it is opened.
const SettingsDialog = lazy(async () => ({ default: (await import("../features/settings")).SettingsDialog }));
const ShortcutsDialog = lazy(async () => ({ default: (await import("../features/settings")).ShortcutsDialog }));

export function App() {
  const login = useStore(catalog, (known) => known.login);
  useEffect(() => (login === "in" ? listenForShortcuts() : undefined), [login]);
  useEffect(closeConfirmationOnBack, []);
  return (
    <>
      <Boundary>
        {login === "in" && <Shell />}
        {login === "out" && <Login />}
        {(login === "unknown" || login === "unreachable") && <Threshold />}
      </Boundary>
      <Suspense>{login === "in" && <OpenDialog />}</Suspense>
      <Toasts />
    </>
  );
}
const CheckDialog = lazy(async () => ({ default: (await import("../features/check")).CheckDialog }));

function OpenDialog() {
  const dialog = useStore(view, (shown) => shown.dialog);
  if (dialog === "settings") return <SettingsDialog />;
  if (dialog === "check") return <CheckDialog />;
  return dialog === "shortcuts" ? <ShortcutsDialog /> : null;
}

/** Before it is known who is there. */
function Threshold() {
  const t = useWords(words);
  const unreachable = useStore(catalog, (known) => known.login === "unreachable");
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
