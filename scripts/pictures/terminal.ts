import { COLOURS, escaped, type Scheme, svg } from './scheme.ts'

/** A line of a terminal: what a person typed or said beside, or what a program wrote. */
export interface TerminalLine {
  kind: 'comment' | 'command' | 'output'
  text: string
}

const FONT = 13
const LINE = 19
const MARGIN = 18
/** Width of a character of that size, in pixels: every line is drawn as wide, whatever font the reader has. */
const ADVANCE = 7.8
/** Time that a line is looked at before the next one comes, in seconds. */
const PAUSE = { comment: 1, command: 1.2, output: 0.12 }

/**
 * Draws a recording of a terminal. It plays once and stays whole; for those who want no motion it is whole at once.
 *
 * @param columns columns of the terminal; longer lines are cut
 */
export function terminalPicture(lines: readonly TerminalLine[], scheme: Scheme, columns: number): string {
  const { quiet, accent, warning } = COLOURS[scheme]
  let at = 0
  const drawn = lines.flatMap(({ kind, text }, i) => {
    const began = at
    at += PAUSE[kind]
    if (text === '') return []
    const line = kind === 'command' ? `$ ${text}` : text
    const shown = line.length > columns ? `${line.slice(0, columns - 1)}…` : line
    const colour = { comment: quiet, command: accent, output: /in no receipt|^Failed/.test(text) ? warning : '' }[kind]
    const place = `x="${MARGIN}" y="${MARGIN + FONT + i * LINE}" textLength="${(shown.length * ADVANCE).toFixed(1)}"`
    const style = `${colour ? `fill:${colour};` : ''}animation-delay:${began.toFixed(2)}s`
    return [`<text class="m" ${place} lengthAdjust="spacingAndGlyphs" style="${style}">${escaped(shown)}</text>`]
  })
  return svg(
    { width: Math.ceil(columns * ADVANCE) + 2 * MARGIN, height: lines.length * LINE + 2 * MARGIN },
    scheme,
    'A recording of a terminal',
    drawn,
    `.m{font-size:${FONT}px}@media (prefers-reduced-motion:no-preference){.m{animation:come .15s both}}@keyframes come{from{opacity:0}}`,
  )
}

/** The lines that a picture shows. */
export function linesOf(picture: string): string[] {
  return [...picture.matchAll(/<text class="m"[^>]*>([^<]*)<\/text>/g)].map(([, text = '']) =>
    text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  )
}
