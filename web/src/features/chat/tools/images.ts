import type { ToolResultBlock } from "../../../protocol/events.gen";

/** An image that a tool returned, as a file of the session. */
export interface ToolImage {
  file_path: string;
  media_type: string;
  width: number;
  height: number;
}

/** Those of a result that can be shown. Results of an older server have none. */
export function imagesOf(result: ToolResultBlock | null): readonly ToolImage[] {
  const images = (result as { images?: unknown } | null)?.images;
  return Array.isArray(images) ? images.filter(isImage) : [];
}

function isImage(value: unknown): value is ToolImage {
  const image = value as Partial<ToolImage> | null;
  return (
    typeof image?.file_path === "string" &&
    typeof image.media_type === "string" &&
    image.media_type.startsWith("image/") &&
    isLength(image.width) &&
    isLength(image.height)
  );
}

function isLength(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}
