import { LogOut } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { api } from "../../protocol/client";
import { catalog } from "../../state/catalog";
import { forgetDrafts } from "../../state/drafts";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Section } from "./Section";
import { words } from "./words";

/** The person at the machine itself has no password. */
const LOCAL = "local";

export function AccountSection() {
  const t = useWords(words);
  const me = useStore(catalog, (known) => known.me);
  const [problem, setProblem] = useState<string | null>(null);
  if (!me) return null;
  const isLocal = me.user_id === LOCAL;
  const leave = async () => {
    try {
      await api.logOut();
      forgetDrafts();
      // Nothing of what was open stays in the page; the new one asks who is there.
      location.assign("/");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Section title={t.account}>
      <div className="settings-row">
        <span>
          <strong dir="auto">{me.name}</strong> <Badge>{me.role === "admin" ? t.admin : t.user}</Badge>
        </span>
        <Button icon={LogOut} onClick={() => void leave()}>
          {t.logOut}
        </Button>
      </div>
      {problem && (
        <p className="settings-problem" role="alert">
          {problem}
        </p>
      )}
      {isLocal && <p className="settings-note">{t.localNote}</p>}
      {!isLocal && me.by === "cookie" && <Password name={me.name} />}
    </Section>
  );
}

function Password({ name }: { name: string }) {
  const t = useWords(words);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [isDone, setDone] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const values = new FormData(form);
    setBusy(true);
    setDone(false);
    setProblem(null);
    try {
      await api.changePassword(String(values.get("old")), String(values.get("new")));
      form.reset();
      setDone(true);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <details className="settings-details">
      <summary>{t.changePassword}</summary>
      <form className="settings-form" onSubmit={(event) => void submit(event)}>
        <input type="text" name="name" autoComplete="username" value={name} readOnly hidden />
        <label>
          <span className="settings-label">{t.oldPassword}</span>
          <input className="ui-field" type="password" name="old" autoComplete="current-password" required />
        </label>
        <label>
          <span className="settings-label">{t.newPassword}</span>
          <input
            className="ui-field"
            type="password"
            name="new"
            autoComplete="new-password"
            minLength={8}
            maxLength={1024}
            required
          />
        </label>
        {problem && (
          <p className="settings-problem" role="alert">
            {problem}
          </p>
        )}
        <Button look="main" type="submit" disabled={busy}>
          {t.changePassword}
        </Button>
        <p className="settings-note" role="status">
          {isDone ? t.passwordChanged : t.passwordNote}
        </p>
      </form>
    </details>
  );
}
