/** The lines of a page outside fenced blocks, numbered from 1. Code within a line stays. */
export function linesOutsideCode(page: string): Array<{ line: number; text: string }> {
  const lines: Array<{ line: number; text: string }> = []
  let fence: string | null = null
  for (const [i, text] of page.split('\n').entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(text)?.[1]
    if (fence !== null) {
      if (mark?.startsWith(fence)) fence = null
    } else if (mark !== undefined) fence = mark
    else lines.push({ line: i + 1, text })
  }
  return lines
}
