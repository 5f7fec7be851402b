/** Logo: an eye. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="var(--accent-fill)" />
      <path d="M4 16c4-6 8-8 12-8s8 2 12 8c-4 6-8 8-12 8s-8-2-12-8z" fill="none" stroke="#fff" stroke-width="2.5" />
      <circle cx="16" cy="16" r="4" fill="#fff" />
    </svg>
  )
}
