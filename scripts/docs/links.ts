import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { linesOutsideCode } from './prose.ts'

/** The files whose links are checked, from the working directory. */
export function pagesOf(root: string): string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  const top = readdirSync(root).filter((file) => file.endsWith('.md'))
  return [...top, ...docs.filter((file) => file.endsWith('.md')).map((file) => join('docs', file))].sort()
}

/**
 * Finds links that lead nowhere: to a file or folder that does not exist, or to a heading that its page does not have.
 * Links to other sites are not followed.
 *
 * @param root the folder that `pages` start at
 * @param hasFile tells whether a file is there; the package has fewer than the tree
 * @returns one sentence for each dead link, beginning with `file:line`
 */
export function deadLinks(
  root: string,
  pages: readonly string[],
  hasFile = (path: string) => existsSync(join(root, path)),
): string[] {
  return pages.flatMap((page) =>
    linksIn(readFileSync(join(root, page), 'utf8')).flatMap(({ line, target }) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)))
      const at = `${page}:${line}: the link ${target}`
      if (file.startsWith('..')) return [`${at} leads out of the project.`]
      if (!hasFile(file)) return [`${at} leads to ${file}, which does not exist.`]
      if (anchor === undefined) return []
      if (statSync(join(root, file)).isDirectory()) return [`${at} has an anchor in a folder.`]
      const anchors = anchorsOf(readFileSync(join(root, file), 'utf8'))
      return anchors.has(anchor) ? [] : [`${at} leads to a heading that ${file} does not have.`]
    }),
  )
}

/** The links of a page that stay in this project, with the line of each. */
function linksIn(page: string): Array<{ line: number; target: string }> {
  return linesOutsideCode(page).flatMap(({ line, text }) => {
    const inline = [...text.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)]
    const defined = [...text.matchAll(/^\s*\[[^\]]+\]:\s+(\S+)/g)]
    const html = [...text.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g)]
    return [...inline, ...defined, ...html]
      .map(([, target = '']) => ({ line, target }))
      .filter(({ target }) => !/^[a-z][a-z+.-]*:/i.test(target))
  })
}

/** The anchors of a page's headings, made as GitHub makes them; a repeated one gets a number. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const { text } of linesOutsideCode(page)) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(text)?.[1]
    for (const [, id = ''] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id)
    if (heading === undefined) continue
    const anchor = anchorOf(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    anchors.add(times === 0 ? anchor : `${anchor}-${times}`)
  }
  return anchors
}

/** The anchor of a heading, made as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}
