import { readFileSync } from 'node:fs'

/** The version in outputs: of a service, of `gazeway --version`, and in the name of a tarball. */
const SHOWN = /(?<=^gazeway )\d+\.\d+\.\d+(?=: )|^\d+\.\d+\.\d+$|(?<=\bgazeway-)\d+\.\d+\.\d+(?=\.tgz\b)/gm

/** A page on which outputs of commands show the version of this package. */
export function withShownVersion(page: string): string {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  return page.replace(SHOWN, version)
}
