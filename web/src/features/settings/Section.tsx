import { type ReactNode, type Ref, useId } from "react";

/** A part of the settings with its heading. */
export function Section({
  title,
  ref,
  children,
}: {
  title: string;
  ref?: Ref<HTMLHeadingElement>;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section className="settings-section" aria-labelledby={id}>
      <h3 id={id} ref={ref} className="settings-heading" tabIndex={ref ? -1 : undefined}>
        {title}
      </h3>
      {children}
    </section>
  );
}
