import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packBundle } from './mcpb/pack-bundle.ts'
import { setPackedModes } from './packed-modes.ts'
import { writePlugin } from './plugin-folder.ts'
import { agreedVersion, notesOf } from './release/versions.ts'

/**
 * Makes all files of a release and publishes none: `npm run release:dry -- --out release`. The workflow of releases runs it
 * with the pushed tag.
 *
 * --tag TAG  refuses one that is not the version
 * --out DIR  the new folder of the files, `release` by default
 * --built    packs the build that is there
 */
const { values } = parseArgs({
  options: {
    tag: { type: 'string' },
    out: { type: 'string', default: 'release' },
    built: { type: 'boolean', default: false },
  },
})
const out = resolve(values.out)

const version = agreedVersion(values.tag)
step(`version ${version}`)
const notes = notesOf(version, readFileSync('CHANGELOG.md', 'utf8'))
step('workflows and the image')
// Loads in two seconds, which a refused tag need not take.
const { imageFaults, workflowFaults } = await import('./release/lint.ts')
const faults = [...(await workflowFaults()), ...imageFaults()]
if (faults.length > 0) throw new Error(faults.join('\n'))

mkdirSync(out)
step('npm package')
setPackedModes('.')
const scripts = values.built ? ['--ignore-scripts'] : []
run('npm', ['pack', '--silent', ...scripts, '--pack-destination', out])
step('bundle')
packBundle(join(out, `gazeway-${version}.mcpb`))
step('plugin')
packPlugin(join(out, `gazeway-plugin-${version}.tar.gz`))
copyFileSync('server.json', join(out, 'server.json'))
writeFileSync(join(out, 'NOTES.md'), notes)
const sums = readdirSync(out).map((name) => `${sha256(join(out, name))}  ${name}\n`)
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
step('site of the documentation')
const { buildSite } = await import('./site/build-site.ts')
const broken = await buildSite(join(out, 'site'))
if (broken.length > 0) throw new Error(broken.join('\n'))
step(`wrote ${sums.length + 1} files and the site to ${out}; nothing is published`)

function step(what: string): void {
  console.log(what)
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
}

/** Packs the plugin's folder. The same files give the same bytes: sorted, and without times and owners (GNU tar). */
function packPlugin(file: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-plugin-'))
  try {
    writePlugin(join(folder, 'gazeway'))
    const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=go=rX,u+rw,a-s']
    run('tar', [...same, '--use-compress-program=gzip -n', '-cf', file, '-C', folder, 'gazeway'])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
