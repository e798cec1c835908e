import { type FormEvent, useState } from "react";
import { useWords } from "../lib/i18n";
import { logIn } from "../state/catalog";
import { Button } from "../ui/Button";
import { words } from "./words";

export function Login() {
  const t = useWords(words);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(null);
    try {
      await logIn(String(form.get("name")), String(form.get("password")));
    } catch (refused) {
      setError(refused instanceof Error ? refused.message : String(refused));
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className="app-threshold">
      <h1>Footnote</h1>
      <p className="app-soft">{t.logInNote}</p>
      <form className="app-login" onSubmit={(event) => void submit(event)}>
        <label>
          {t.name}
          <input className="ui-field" name="name" autoComplete="username" required />
        </label>
        <label>
          {t.password}
          <input className="ui-field" name="password" type="password" autoComplete="current-password" required />
        </label>
        {error && (
          <p role="alert" className="app-error">
            {error}
          </p>
        )}
        <Button type="submit" look="main" disabled={busy}>
          {t.logIn}
        </Button>
      </form>
    </main>
  );
}
