import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package whose code is in the bundle. */
interface Bundled {
  name: string
  version: string
  /** SPDX identifier. */
  license: string
  /** The text that its licence asks to pass on, with its NOTICE where it has one (Apache License 2.0, section 4d). */
  text: string
}

const PACKAGE = /^.*[\\/]?node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/
const LICENSE_FILE = /^(licen[cs]e|copying)([.-]|$)/i
const NOTICE_FILE = /^notice(\.|$)/i

/**
 * The file THIRD-PARTY-LICENSES: every package that has code in the bundles, and the text of its licence. Packages with
 * the same text stand above it together.
 *
 * @param modules paths of the modules in the bundles; those outside `node_modules` are Gazeway's own
 * @throws Error that names a package without a licence or its text
 */
export function thirdPartyLicenses(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))
  const byTitle = new Map([...folders].map(readPackage).map((bundled) => [titleOf(bundled), bundled]))
  const packages = [...byTitle.values()]
  const byText = new Map<string, string[]>()
  for (const bundled of packages.sort(byName))
    byText.set(bundled.text, [...(byText.get(bundled.text) ?? []), titleOf(bundled)])
  const sections = [...byText].map(([text, titles]) => `${titles.join('\n')}\n\n${text}`)
  return `${[INTRODUCTION, ...sections].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

const INTRODUCTION = 'Gazeway bundles code of the packages below. Each stands above the text of its licence.'

const titleOf = ({ name, version, license }: Bundled) => `${name} ${version} (${license})`
const byName = (a: Bundled, b: Bundled) => (titleOf(a) < titleOf(b) ? -1 : 1)

function readPackage(folder: string): Bundled {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (typeof license !== 'string') throw new Error(`${name} ${version} is bundled and names no licence.`)
  // Sorted: a folder's order is its file system's.
  const files = readdirSync(folder).sort()
  const read = (file: string) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim()
  const texts = files.filter((file) => LICENSE_FILE.test(file)).map(read)
  if (texts.length === 0)
    texts.push(
      ...files
        .filter((file) => /^readme\./i.test(file))
        .flatMap(read)
        .flatMap(inReadme),
    )
  if (texts.length === 0 && license === 'MIT' && typeof author === 'string') texts.push(mitOf(author))
  if (texts.length === 0) throw new Error(`${name} ${version} is bundled without the text of its licence.`)
  return {
    name,
    version,
    license,
    text: [...texts, ...files.filter((file) => NOTICE_FILE.test(file)).map(read)].join('\n\n'),
  }
}

/** The text of the MIT licence, which is also Gazeway's own, for a package that names it and its author and ships no text. */
function mitOf(author: string): string {
  const own = readFileSync(new URL('../LICENSE', import.meta.url), 'utf8')
  return `Copyright (c) ${author}\n\n${own.slice(own.indexOf('Permission is hereby granted')).trim()}`
}

/** The last section of a README, where it is the licence: some packages have its text nowhere else. */
function inReadme(text: string): string[] {
  const [, section] = /^#+ licen[cs]e\s+(.*copyright.*)$/ims.exec(text) ?? []
  return section === undefined ? [] : [section.trim()]
}
