import { Bot, ChevronDown } from "lucide-react";
import { useEffect } from "react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import type { ModelView } from "../../protocol/events.gen";
import { catalog } from "../../state/catalog";
import { conversation } from "../../state/conversation";
import { agentNow, bareName, inOrder, keyOf, modelByDefault, modelNow, READER } from "../../state/modelChoice";
import { prefer, preferences } from "../../state/preferences";
import { openDialog } from "../../state/view";
import { Icon } from "../../ui/Icon";
import { Menu, type MenuItem } from "../../ui/Menu";
import { words } from "./words";

function useAnswering() {
  const known = useStore(catalog);
  const chosen = useStore(preferences, (liked) => liked.model);
  const liked = useStore(preferences, ({ agent }) => agent);
  const head = useStore(conversation, (now) => now.head);
  const sessionId = useStore(conversation, (now) => now.sessionId);
  const agent = agentNow(known, sessionId === null ? liked : (head?.agent_id ?? null));
  return { known, agent, chosen, model: modelNow(known, agent, chosen), isNew: sessionId === null };
}

/** Who is asked. That is settled when the conversation begins. */
export function AgentMenu() {
  const t = useWords(words);
  const { known, agent, isNew } = useAnswering();
  const liked = useStore(preferences, (all) => all.agent);
  const isGone = liked !== null && known.agents.length > 0 && !known.agents.some((one) => one.id === liked);
  useEffect(() => {
    // The server would not begin a conversation with an agent that it does not have.
    if (isGone) prefer({ agent: null });
  }, [isGone]);
  if (!agent || known.agents.length < 2) return null;
  if (!isNew)
    return (
      <span className="composer-agent" title={t.agentOf(agent.name)}>
        <Icon of={Bot} />
        <span className="ui-hidden">{t.agent}: </span>
        <span className="composer-choice-name">{agent.name}</span>
      </span>
    );
  const items = known.agents.map(
    (one): MenuItem => ({
      key: one.id,
      text: <span dir="auto">{one.name}</span>,
      note: one.description || undefined,
      checked: one.id === agent.id,
      onChoose: () => prefer({ agent: one.id === known.agents[0]?.id ? null : one.id }),
    }),
  );
  return (
    <Menu items={items} look="quiet" small icon={Bot} label={t.agentOf(agent.name)}>
      <span className="composer-choice-name">{agent.name}</span>
      <Icon of={ChevronDown} />
    </Menu>
  );
}

export function ModelMenu() {
  const t = useWords(words);
  const { known, agent, chosen, model } = useAnswering();
  const usual = modelByDefault(known, agent);
  const isGone =
    chosen !== null && known.models.length > 0 && !known.models.some((one) => one.id === chosen && one.available);
  useEffect(() => {
    // A model that was chosen once and cannot be asked any more would refuse every question.
    if (isGone) prefer({ model: null });
  }, [isGone]);
  if (model === null) return null;
  const nameOf = (id: string) => (id === READER ? t.reader : bareName(id));
  const items = inOrder(known.models).map(
    (one): MenuItem => ({
      key: one.id,
      text: (
        <span className="composer-model" dir="auto">
          {nameOf(one.id)}
          {one.id === usual && <span className="composer-model-usual">{t.byDefault}</span>}
        </span>
      ),
      note: noteOf(one, t),
      checked: one.id === model,
      disabled: !one.available,
      onChoose: () => prefer({ model: one.id === usual ? null : one.id }),
    }),
  );
  return (
    <Menu items={items} look="quiet" small title={t.modelOf(model)} label={t.modelOf(nameOf(model))}>
      <span className="composer-choice-name">{nameOf(model)}</span>
      <Icon of={ChevronDown} />
    </Menu>
  );
}

function noteOf({ id, provider, available }: ModelView, t: (typeof words)["en"]): string {
  if (id === READER) return t.readerNote;
  if (available) return provider;
  const key = keyOf(provider);
  if (key !== null) return t.needsKey(key);
  return provider === "ollama" ? t.needsOllama : t.needsSetting;
}

/** Says that no model is there, and how to get one. */
export function ReaderNote() {
  const t = useWords(words);
  const { known, model, isNew } = useAnswering();
  // A new conversation says it at length already.
  if (model !== READER || (isNew && known.about?.keyless)) return null;
  return (
    <p className="composer-reader">
      {t.readerAnswers}{" "}
      <button type="button" className="composer-link" onClick={() => openDialog("settings", "models")}>
        {t.addModel}
      </button>
    </p>
  );
}
