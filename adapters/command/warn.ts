/** Prints warnings on stderr, a line each. */
export function warn(warnings: readonly string[]): void {
  for (const warning of warnings) process.stderr.write(`Warning: ${warning}\n`)
}
