import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { after, describe, it } from 'node:test'

/** An `@example` of a docstring, as the module that it is compiled as. */
interface Example {
  file: string
  line: number
  module: string
}

const EXAMPLE = /@example\b([\s\S]*?)(?=\n\s*\* @|\*\/)/g
const EXPORTED = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm
const TSC = resolve('node_modules/.bin/tsc')

describe('the examples in docstrings', () => {
  // Below node_modules, so that the examples import the packages that the sources import.
  mkdirSync('node_modules/.cache', { recursive: true })
  const folder = mkdtempSync(resolve('node_modules/.cache/examples-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('compile against the sources', () => {
    const examples = ['src', 'adapters', 'tools', 'scripts'].flatMap(sources).flatMap(examplesOf)
    assert.ok(examples.length > 20, `only ${examples.length} examples were found`)
    const faults = compile(examples)
    assert.equal(faults, '', faults)
  })

  it('are refused when they call what is not there', () => {
    const file = 'src/text/cut.ts'
    assert.match(compile([{ file, line: 5, module: moduleOf(file, "cut('on', 0, 4, 5)", ['cut']) }]), /cut\.ts:5/)
  })

  /** The compiler's complaints, each with the docstring that it is about. */
  function compile(examples: Example[]): string {
    const files = examples.map(({ module }, index) => {
      const path = join(folder, `example-${index}.ts`)
      writeFileSync(path, module)
      return path
    })
    const config = join(folder, 'tsconfig.json')
    const compilerOptions = { noUnusedLocals: false, types: ['node'], typeRoots: [resolve('node_modules/@types')] }
    writeFileSync(
      config,
      JSON.stringify({ extends: resolve('tsconfig.json'), compilerOptions, files, include: [], exclude: [] }),
    )
    const { stdout, stderr } = spawnSync(TSC, ['-p', config, '--pretty', 'false'], { encoding: 'utf8' })
    return (stdout + stderr).replace(/^\S*example-(\d+)\.ts/gm, (_, index) => {
      const example = examples[Number(index)]
      return `${example?.file}:${example?.line} (@example) `
    })
  }

  function examplesOf(file: string): Example[] {
    const text = readFileSync(file, 'utf8')
    const exported = [...text.matchAll(EXPORTED)].map(([, name = '']) => name)
    return [...text.matchAll(EXAMPLE)].map(({ index, 1: body = '' }) => {
      const code = body
        .replace(/^[ \t]*\*(?: |$)/gm, '')
        .replace(/^```.*$/gm, '')
        .trim()
      return { file, line: text.slice(0, index).split('\n').length, module: moduleOf(file, code, exported) }
    })
  }

  /** The example with the exports of its own file in scope; all else it imports itself, as its file would. */
  function moduleOf(file: string, code: string, exported: string[]): string {
    const named = exported.filter((name) => new RegExp(`\\b${name}\\b`).test(code))
    const imports = named.map((name) => `import { ${name} } from './${file.split('/').at(-1)}'\n`).join('')
    return `${imports}${code}\nexport {}\n`.replace(/from '(\.[^']+)'/g, (_, path) => {
      const target = relative(folder, resolve(dirname(file), path)).replaceAll('\\', '/')
      return `from '${target}'`
    })
  }
})

/** Sources that the main tsconfig compiles: the pages of the console have a compiler setup of their own. */
function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name).replaceAll('\\', '/'))
    .filter((file) => !file.startsWith('adapters/console/web/'))
}
