import type { LucideIcon } from "lucide-react";
import type { ButtonHTMLAttributes, Ref } from "react";
import { Icon } from "./Icon";
import "./ui.css";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "plain" | "main" | "quiet" | "danger";
  small?: boolean;
  icon?: LucideIcon;
  /** Only the icon is shown; `label` is its name. */
  label?: string;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = "plain", small, icon, label, children, ...rest }: ButtonProps) {
  const alone = label !== undefined && children === undefined;
  return (
    <button
      type="button"
      {...rest}
      className={`ui-button ${rest.className ?? ""}`}
      data-look={look}
      data-small={small || undefined}
      data-square={alone || undefined}
      aria-label={label ?? rest["aria-label"]}
      title={rest.title ?? label}
    >
      {icon && <Icon of={icon} />}
      {children}
    </button>
  );
}
