const BLOCK = /(<!-- generated:start[^>]*-->\n)[\s\S]*?(\n<!-- generated:end -->)/

/**
 * A page with its generated part replaced: what stands between `<!-- generated:start … -->` and `<!-- generated:end -->`.
 *
 * @throws Error when the page has no such part
 */
export function withGenerated(page: string, content: string): string {
  if (!BLOCK.test(page)) throw new Error('The page has no <!-- generated:start --> … <!-- generated:end --> part.')
  return page.replace(BLOCK, (_, start: string, end: string) => `${start}\n${content}\n${end}`)
}
