/** Text as it was written, which scrolls within its height. @param label name of it, for those who reach it by the keyboard */
export function Verbatim({ label, text }: { label: string; text: string }) {
  return (
    <pre role="region" tabIndex={0} aria-label={label}>
      {text}
    </pre>
  )
}
