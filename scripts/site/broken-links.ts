import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Finds links and pictures of a built site that lead nowhere: to no file of it, or to no element of its page.
 *
 * @param folder the built site
 * @param base path that it is served below, such as `/gazeway/`
 * @returns one sentence for each, beginning with its page
 */
export function brokenLinks(folder: string, base: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))
  const pages = new Map(files.map((file) => [file.replaceAll('\\', '/'), readFileSync(join(folder, file), 'utf8')]))
  return [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/\s(?:href|src)="([^"]*)"/g)].flatMap(([, target = '']) => {
      const { origin, pathname, hash } = new URL(target.replaceAll('&amp;', '&'), `http://site${base}${page}`)
      if (origin !== 'http://site') return []
      const path = decodeURIComponent(pathname)
      if (!path.startsWith(base)) return [`${page}: ${target} leads out of ${base}`]
      const file = path.slice(base.length).replace(/^$|\/$/, '$&index.html')
      if (!existsSync(join(folder, file))) return [`${page}: ${target} leads to ${file}, which does not exist`]
      const id = decodeURIComponent(hash.slice(1))
      return id === '' || pages.get(file)?.includes(` id="${id}"`) ? [] : [`${page}: ${target} leads to no element`]
    }),
  )
}
