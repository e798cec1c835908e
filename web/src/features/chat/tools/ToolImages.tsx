import { useState } from "react";
import { useWords } from "../../../lib/i18n";
import { useStore } from "../../../lib/store";
import { api } from "../../../protocol/client";
import type { CallPart } from "../../../state/answer";
import { conversation } from "../../../state/conversation";
import { imagesOf, type ToolImage } from "./images";
import { words } from "./words";

/** The images that a tool returned. They are files of the session, and come from our own server. */
export function ToolImages({ call }: { call: CallPart }) {
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const images = imagesOf(call.result);
  if (sessionId === null || images.length === 0) return null;
  return (
    <div className="chat-tool-images">
      {images.map((image) => (
        <Shown key={image.file_path} sessionId={sessionId} image={image} name={call.title || call.name} />
      ))}
    </div>
  );
}

/** Its size is known before it comes, so that nothing below it is pushed away. */
function Shown({ sessionId, image, name }: { sessionId: string; image: ToolImage; name: string }) {
  const t = useWords(words);
  const [isGone, setGone] = useState(false);
  if (isGone) return <p className="chat-soft">{t.imageGone}</p>;
  return (
    <img
      src={api.rawUrl(sessionId, image.file_path)}
      alt={t.image(name)}
      width={image.width}
      height={image.height}
      loading="lazy"
      onError={() => setGone(true)}
    />
  );
}
