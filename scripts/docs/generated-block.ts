const BLOCK = /(<!-- generated:start[^>]*-->\n)[\s\S]*?(\n<!-- generated:end -->)/g

/**
 * A page with its generated parts replaced, in their order: what stands between `<!-- generated:start … -->` and
 * `<!-- generated:end -->`.
 *
 * @throws Error when the page has another number of such parts
 */
export function withGenerated(page: string, contents: readonly string[]): string {
  const found = page.match(BLOCK)?.length ?? 0
  if (found !== contents.length)
    throw new Error(
      `The page has ${found} <!-- generated:start --> … <!-- generated:end --> parts, not ${contents.length}.`,
    )
  const rest = [...contents]
  return page.replace(BLOCK, (_, start: string, end: string) => `${start}\n${rest.shift()}\n${end}`)
}
