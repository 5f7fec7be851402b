import type { Step } from './story.ts'
import type { Answer } from './surface.ts'

const WIDTH = Math.min(process.stdout.columns ?? 110, 110)
const INDENT = ' '.repeat(14)
const LINES = 7

/** Prints a call and its answer: plain text, no colours, long parts cut. */
export function printStep(number: number, { tool, input }: Step, { text, failed }: Answer, ms: number): void {
  const asked = Object.entries(input).map(([name, value]) => `${name}: ${summary(value)}`)
  const time = `${Math.round(ms)} ms`
  console.log(`${String(number).padStart(2)}. ${tool.padEnd(WIDTH - 4 - time.length)}${time}`)
  printLabelled('asked', [asked.join(', ')])
  printLabelled(failed ? 'FAILED' : 'answered', shortened(text))
  console.log()
}

/** A path as one word of a shell's command line. */
export function asArgument(path: string): string {
  return /^[\w./:\\-]+$/.test(path) ? path : `"${path.replace(/["$`]/g, '\\$&')}"`
}

function printLabelled(label: string, lines: readonly string[]): void {
  for (const [i, line] of lines.entries()) {
    const lead = i === 0 ? `    ${label}`.padEnd(INDENT.length) : INDENT
    console.log(`${lead}${cut(line, WIDTH - INDENT.length)}`)
  }
}

function summary(value: unknown): string {
  return Array.isArray(value) && value.length > 3 ? `[${value.length} of them]` : JSON.stringify(value)
}

function shortened(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length <= LINES) return lines
  return [...lines.slice(0, LINES - 1), `… and ${lines.length - LINES + 1} more lines`]
}

function cut(line: string, width: number): string {
  return line.length > width ? `${line.slice(0, width - 1)}…` : line
}
