import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { endWithTests } from './end-with-tests.ts'

interface Manifest {
  name: string
  version: string
  dependencies?: Record<string, string>
}

/**
 * Starts an npm registry that has packages as they are installed here, with all that they depend on, until a test ends.
 *
 * @returns its address, and the paths that it was asked for
 */
export async function startRegistry(t: TestContext, names: readonly string[]) {
  const asked: string[] = []
  const packages = new Map<string, Manifest>()
  for (const name of names) collect(name, packages)
  const tarballs = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    asked.push(path)
    const [name = '', file] = path.slice(1).split('/-/')
    const manifest = packages.get(name)
    if (manifest === undefined) return void response.writeHead(404).end('{}')
    const tarball = tarballs.get(name) ?? pack(name)
    tarballs.set(name, tarball)
    if (file !== undefined) return void response.end(tarball)
    answer(response, manifest, tarball, url)
  })
  await once(endWithTests(server).listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(() => server.close())
  return { url, asked }
}

function answer(response: ServerResponse, manifest: Manifest, tarball: Buffer, url: string): void {
  const { name, version } = manifest
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
  const dist = { tarball: `${url}/${name}/-/${version}.tgz`, integrity }
  response.setHeader('content-type', 'application/json')
  response.end(
    JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }),
  )
}

function collect(name: string, packages: Map<string, Manifest>): void {
  if (packages.has(name)) return
  const manifest: Manifest = JSON.parse(readFileSync(join('node_modules', name, 'package.json'), 'utf8'))
  packages.set(name, manifest)
  for (const dependency of Object.keys(manifest.dependencies ?? {})) collect(dependency, packages)
}

/** Packs an installed package, in the folder `package`, as npm does. */
function pack(name: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-pack-'))
  try {
    symlinkSync(realpathSync(join('node_modules', name)), join(folder, 'package'), 'junction')
    return execFileSync('tar', ['-chf', '-', '-C', folder, 'package'], { maxBuffer: 1 << 28 })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
