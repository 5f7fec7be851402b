import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, it } from 'node:test'

const WEB = join(import.meta.dirname, '../../adapters/console/web')
/** The stylesheet of the frame, which is there on every page. */
const EVERYWHERE = join(WEB, 'styles.css')

const files = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).map((name) => join(WEB, name))
const sheets = files.filter((file) => file.endsWith('.css'))
const components = files.filter((file) => /\.tsx?$/.test(file))
const named = (file: string) => relative(WEB, file)

/** The selectors of a stylesheet, without those of frames in animations. */
function selectorsOf(sheet: string): string[] {
  const text = readFileSync(sheet, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
  return [...text.matchAll(/([^{};]+)\{/g)]
    .map(([, head = '']) => head.trim())
    .filter((head) => !head.startsWith('@') && !/^(?:from|to|\d+%)/.test(head))
    .flatMap((head) => head.split(/,(?![^(]*\))/))
    .map((selector) => selector.trim())
}

/** The classes of the first part of a selector, which decides on which elements it may apply. */
const ownClasses = (selector: string): string[] =>
  [...(selector.split(/[\s>+~]/)[0] ?? '').matchAll(/\.([\w-]+)/g)].map(([, name = '']) => name)

/** The words of the `class` attributes of a component. */
function classesOf(component: string): Set<string> {
  const text = readFileSync(component, 'utf8')
  const attributes = [...text.matchAll(/\bclass=(?:"([^"]*)"|\{([^}]*(?:\$\{[^}]*\}[^}]*)*)\})/g)]
  return new Set(attributes.flatMap(([, plain, computed]) => (plain ?? computed ?? '').match(/[\w-]+/g) ?? []))
}

/** The stylesheets that are there wherever a component is: its own, and those of the components that it imports. */
function sheetsWith(component: string, seen = new Set<string>()): Set<string> {
  if (seen.has(component)) return new Set()
  seen.add(component)
  const imported = [...readFileSync(component, 'utf8').matchAll(/^(?:import|export|\} from)\b[^\n]*'(\.[^']+)'/gm)]
  const paths = imported.map(([, path = '']) => join(dirname(component), path)).filter((path) => files.includes(path))
  return new Set(paths.flatMap((path) => (path.endsWith('.css') ? [path] : [...sheetsWith(path, seen)])))
}

describe('the styles of the console', () => {
  it('apply to the classes of one stylesheet, except those of the frame', () => {
    const owners = new Map<string, Set<string>>()
    const bare: string[] = []
    for (const sheet of sheets)
      for (const selector of selectorsOf(sheet)) {
        const classes = ownClasses(selector)
        if (classes.length === 0 && sheet !== EVERYWHERE) bare.push(`${named(sheet)}: ${selector}`)
        for (const name of classes.slice(0, 1)) owners.set(name, (owners.get(name) ?? new Set()).add(named(sheet)))
      }
    assert.ok(owners.size > 50, 'the stylesheets were read')
    assert.deepEqual(bare, [], 'a rule for an element alone changes pages that were opened before')
    const shared = [...owners].filter(([, of]) => of.size > 1).map(([name, of]) => `.${name}: ${[...of].join(', ')}`)
    assert.deepEqual(shared, [], 'the order in which pages were opened decides which rule wins')
  })

  it('keep a spacing of 4 pixels, beside hairlines of at most 2', () => {
    const spaces = sheets.flatMap((sheet) =>
      [...readFileSync(sheet, 'utf8').matchAll(/^\s*((?:[\w-]+-)?(?:padding|margin|gap)\b[^:]*:[^;]*);/gm)].map(
        ([, rule = '']) => ({ sheet: named(sheet), rule, px: [...rule.matchAll(/[\d.]+(?=px)/g)].map(Number) }),
      ),
    )
    assert.ok(spaces.length > 100, 'the stylesheets were read')
    const odd = spaces.filter(({ px }) => px.some((one) => one > 2 && one % 4 !== 0))
    assert.deepEqual(
      odd.map(({ sheet, rule }) => `${sheet}: ${rule}`),
      [],
    )
  })

  it('are imported by every component that uses them', () => {
    const missing = components.flatMap((component) => {
      const present = sheetsWith(component)
      const used = classesOf(component)
      return sheets
        .filter((sheet) => sheet !== EVERYWHERE && !present.has(sheet))
        .flatMap((sheet) => {
          const lacking = new Set(selectorsOf(sheet).flatMap((selector) => ownClasses(selector).slice(0, 1)))
          return [...lacking]
            .filter((name) => used.has(name))
            .map((name) => `${named(component)}: .${name} of ${named(sheet)}`)
        })
    })
    assert.deepEqual(missing, [], 'without another page, these are drawn without their styles')
  })
})
