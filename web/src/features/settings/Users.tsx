import { Ellipsis, KeyRound, Shield, Trash2, UserRound, UserRoundCheck, UserRoundX } from "lucide-react";
import { type FormEvent, useCallback, useEffect, useState } from "react";
import { day } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { api } from "../../protocol/client";
import type { User } from "../../protocol/events.gen";
import { catalog } from "../../state/catalog";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Menu, type MenuItem } from "../../ui/Menu";
import { Section } from "./Section";
import { words } from "./words";

/** The owner of the server has neither a password nor a role that can be changed. */
const LOCAL = "local";

type Attempt = (work: () => Promise<unknown>) => Promise<boolean>;

/** All who can log in, for admins. */
export function UsersSection() {
  const t = useWords(words);
  const [users, setUsers] = useState<readonly User[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [notice, setNotice] = useState("");
  const attempt: Attempt = useCallback(async (work) => {
    setProblem(null);
    setNotice("");
    try {
      await work();
      setUsers((await api.users()).users);
      return true;
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      return false;
    }
  }, []);
  useEffect(() => void attempt(() => Promise.resolve()), [attempt]);
  return (
    <Section title={t.users}>
      <p className="settings-note">{t.usersNote}</p>
      {users && (
        <ul className="settings-tokens">
          {users.map((user) => (
            <Row key={user.id} user={user} attempt={attempt} onNotice={setNotice} />
          ))}
        </ul>
      )}
      {problem && (
        <p className="settings-problem" role="alert">
          {problem}
        </p>
      )}
      <p className="settings-note" role="status">
        {notice}
      </p>
      <NewUser attempt={attempt} />
    </Section>
  );
}

interface RowProps {
  user: User;
  attempt: Attempt;
  onNotice: (notice: string) => void;
}

function Row({ user, attempt, onNotice }: RowProps) {
  const t = useWords(words);
  const locale = useLocale();
  const mine = useStore(catalog, ({ me }) => me?.user_id === user.id);
  const [doing, setDoing] = useState<"password" | "removing" | null>(null);
  const actions = useActions(user, attempt, setDoing);
  const done = () => setDoing(null);
  return (
    <li className="settings-user">
      <div className="settings-row">
        <span className="settings-token">
          <span>
            <span dir="auto">{user.name}</span> <Badge>{user.role === "admin" ? t.admin : t.user}</Badge>{" "}
            {user.disabled && <Badge tone="warn">{t.disabled}</Badge>} {mine && <Badge tone="outline">{t.you}</Badge>}
          </span>
          {user.id !== LOCAL && <span className="settings-note">{t.since(day(user.created_at, locale))}</span>}
        </span>
        {user.id !== LOCAL && (
          <Menu look="quiet" small icon={Ellipsis} label={t.userActions(user.name)} items={actions} />
        )}
      </div>
      {doing === "password" && <NewPassword user={user} attempt={attempt} onDone={done} onNotice={onNotice} />}
      {doing === "removing" && <Removing user={user} attempt={attempt} onDone={done} />}
    </li>
  );
}

function useActions(user: User, attempt: Attempt, setDoing: (doing: "password" | "removing") => void): MenuItem[] {
  const t = useWords(words);
  const isAdmin = user.role === "admin";
  return [
    {
      key: "role",
      icon: isAdmin ? UserRound : Shield,
      text: isAdmin ? t.makeUser : t.makeAdmin,
      onChoose: () => void attempt(() => api.changeUser(user.id, { role: isAdmin ? "user" : "admin" })),
    },
    { key: "password", icon: KeyRound, text: t.setPassword, onChoose: () => setDoing("password") },
    {
      key: "disabled",
      icon: user.disabled ? UserRoundCheck : UserRoundX,
      text: user.disabled ? t.enable : t.disable,
      onChoose: () => void attempt(() => api.changeUser(user.id, { disabled: !user.disabled })),
    },
    { key: "remove", icon: Trash2, text: t.removeUser, look: "danger", onChoose: () => setDoing("removing") },
  ];
}

interface DoingProps {
  user: User;
  attempt: Attempt;
  onDone: () => void;
}

function NewPassword({ user, attempt, onDone, onNotice }: DoingProps & { onNotice: (notice: string) => void }) {
  const t = useWords(words);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get("password"));
    if (!(await attempt(() => api.changeUser(user.id, { password })))) return;
    onDone();
    onNotice(t.passwordSet(user.name));
  };
  return (
    <form className="settings-new" onSubmit={(event) => void submit(event)}>
      <PasswordField label={t.passwordFor(user.name)} autoFocus />
      <Button type="submit">{t.setPassword}</Button>
      <Button look="quiet" onClick={onDone}>
        {t.keepUser}
      </Button>
    </form>
  );
}

function Removing({ user, attempt, onDone }: DoingProps) {
  const t = useWords(words);
  return (
    <div className="settings-removing">
      <p>
        <strong dir="auto">{t.removeUserTitle(user.name)}</strong> {t.removeUserNote}
      </p>
      <div className="settings-choice">
        <Button autoFocus onClick={onDone}>
          {t.keepUser}
        </Button>
        <Button look="danger" onClick={() => void attempt(() => api.removeUser(user.id)).then(onDone)}>
          {t.removeUser}
        </Button>
      </div>
    </div>
  );
}

function NewUser({ attempt }: { attempt: Attempt }) {
  const t = useWords(words);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const values = new FormData(form);
    const role = values.get("role") === "admin" ? "admin" : "user";
    setBusy(true);
    const added = await attempt(() =>
      api.addUser({ name: String(values.get("name")).trim(), password: String(values.get("password")), role }),
    );
    setBusy(false);
    if (added) form.reset();
  };
  return (
    <form className="settings-new" data-fields="3" onSubmit={(event) => void submit(event)}>
      <label>
        <span className="settings-label">{t.userName}</span>
        <input
          className="ui-field"
          name="name"
          maxLength={64}
          required
          pattern=".*\S.*"
          autoComplete="off"
          dir="auto"
        />
      </label>
      <PasswordField label={t.userPassword} />
      <label>
        <span className="settings-label">{t.userRole}</span>
        <select className="ui-field" name="role" defaultValue="user">
          <option value="user">{t.user}</option>
          <option value="admin">{t.admin}</option>
        </select>
      </label>
      <Button type="submit" disabled={busy}>
        {t.addUser}
      </Button>
    </form>
  );
}

/** Of somebody else: the browser is not to remember it. */
function PasswordField({ label, autoFocus = false }: { label: string; autoFocus?: boolean }) {
  return (
    <label>
      <span className="settings-label">{label}</span>
      <input
        className="ui-field"
        type="password"
        name="password"
        autoComplete="new-password"
        minLength={8}
        maxLength={1024}
        required
        // biome-ignore lint/a11y/noAutofocus: it was asked for by a click on a menu item.
        autoFocus={autoFocus}
      />
    </label>
  );
}
