import {
  Archive,
  AudioLines,
  File,
  FileBraces,
  FileCode,
  FileSpreadsheet,
  FileText,
  Film,
  Image,
  type LucideIcon,
  Presentation,
} from "lucide-react";
import type { IconType } from "../protocol/events.gen";
import { Icon } from "./Icon";

const SHAPES: Record<IconType, LucideIcon> = {
  md: FileText,
  pdf: FileText,
  txt: FileText,
  docx: FileText,
  code: FileCode,
  json: FileBraces,
  csv: FileSpreadsheet,
  xlsx: FileSpreadsheet,
  pptx: Presentation,
  image: Image,
  archive: Archive,
  audio: AudioLines,
  video: Film,
  file: File,
};

export function FileIcon({ type }: { type: IconType }) {
  return <Icon of={SHAPES[type] ?? File} />;
}
