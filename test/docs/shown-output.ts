import assert from 'node:assert/strict'

/** Wildcard for output that differs between runs: within a line, or for any lines if it is a line itself. */
const ANY = '…'

/**
 * Compares the output of a command with the block that a page shows below it.
 *
 * @param shown its language is `json` for one document, of which the page may leave fields out, else lines as they came
 */
export function assertShown(output: string, shown: { language: string; text: string }): void {
  if (shown.language === 'json') assertPart(parsed(output), JSON.parse(shown.text), output)
  else assert.match(trimmed(output), new RegExp(`^${patternOf(trimmed(shown.text))}$`))
}

/** A pattern for lines in which {@link ANY} stands for what differs. */
export function patternOf(lines: string): string {
  return lines
    .split('\n')
    .map((line) => (line === ANY ? '[^]*' : line.split(ANY).map(escaped).join('.*')))
    .join('\n')
    .replaceAll(/\n?\[\^\]\*\n?/g, '[^]*')
}

/** The document at the end of an output, after headers or notes. */
function parsed(output: string): unknown {
  const start = /^[{[]/m.exec(output)
  assert.ok(start, `There is no JSON in: ${output}`)
  return JSON.parse(output.slice(start.index))
}

/** Asserts that a document holds all that another one shows of it. */
function assertPart(found: unknown, shown: unknown, output: string): void {
  if (typeof shown === 'string') {
    assert.match(String(found), new RegExp(`^${patternOf(shown)}$`), output)
  } else if (typeof shown !== 'object' || shown === null) {
    assert.equal(found, shown, output)
  } else {
    assert.ok(typeof found === 'object' && found !== null, output)
    if (Array.isArray(shown)) assert.equal((found as unknown[]).length, shown.length, output)
    for (const [key, part] of Object.entries(shown)) {
      assert.ok(key in found, `${key} is missing: ${output}`)
      assertPart(found[key as keyof typeof found], part, output)
    }
  }
}

const trimmed = (text: string) =>
  text
    .replaceAll('\r', '')
    .replaceAll(/[ \t]+$/gm, '')
    .trim()
const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
