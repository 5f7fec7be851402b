/** Schemes of colours that each picture is drawn in. */
export const SCHEMES = ['light', 'dark'] as const
export type Scheme = (typeof SCHEMES)[number]

interface Colours {
  ground: string
  edge: string
  text: string
  quiet: string
  accent: string
  /** Bars of others. */
  others: string
  warning: string
}

/** Text has a contrast of 4.5 or more on its ground. */
export const COLOURS: Readonly<Record<Scheme, Colours>> = {
  light: {
    ground: '#fbfbfa',
    edge: '#d9d8d4',
    text: '#22211f',
    quiet: '#66645f',
    accent: '#0f6a5f',
    others: '#b3b0a9',
    warning: '#a33a16',
  },
  dark: {
    ground: '#171918',
    edge: '#3a3d3b',
    text: '#e8e7e3',
    quiet: '#a3a29d',
    accent: '#5cc9b8',
    others: '#62655f',
    warning: '#f0966f',
  },
}

/** A text inside of SVG. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/**
 * A picture with a ground of its own, so that it is read on any page.
 *
 * @param says description for those who do not see it
 * @param style rules beside those of text
 */
export function svg(
  size: { width: number; height: number },
  scheme: Scheme,
  says: string,
  content: readonly string[],
  style = '',
): string {
  const { width, height } = size
  const { ground, edge, text } = COLOURS[scheme]
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(says)}">`,
    `<style>text{font-family:ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:${text}}.m{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}${style}</style>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="${ground}" stroke="${edge}"/>`,
    ...content,
    '</svg>',
  ].join('\n')}\n`
}
