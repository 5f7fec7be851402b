/** A function that makes all schemas of a protocol era and returns them, as the SDK's build lays it out. */
const FACTORY = /^function (build(?:\$1)?)\(\) \{\n([\s\S]*?\n)(\treturn \{\n[\s\S]*?)\n\}$/gm
/** The declaration of a schema. */
const DECLARED = /^\tconst ([\w$]+) = /gm
/** A schema, where each mention of one has become a call. */
const SCHEMA = /^\tconst ([\w$]+)\(\) = ([\s\S]*?);\n(?=\t[^\t)}\]]|(?![\s\S]))/gm
/** A field of what is returned, likewise. */
const FIELD = /^\t\t(\w+)(?:\(\)|: ([\s\S]*?))(?=,\n\t\t\w|\n\t\};)/gm
/** A method's schema in a table of them. */
const METHOD = /^\t\t\t("[\w/]+"|\w+): (s\.\w+)/gm

/** A getter takes its value's place with its first use. */
const PARTS = `
const once = (make) => { let made; return () => (made ??= make()) }
const kept = (object, name, value) => { Object.defineProperty(object, name, { value }); return value }
`

/**
 * Makes each schema of the MCP SDK on first use. The SDK makes all of an era with the first message: some two hundred, of
 * which a client's start needs three.
 *
 * @param source of the SDK's module with the schemas
 * @throws Error where they are laid out otherwise
 */
export function lazySchemas(source: string): string {
  const factories = [...source.matchAll(FACTORY)]
  if (factories.length !== 2)
    throw new Error('The MCP SDK lays its schemas out otherwise; see scripts/lazy-schemas.ts.')
  const lazy = source.replace(FACTORY, (_, factory: string, schemas: string, returned: string) => {
    const names = [...schemas.matchAll(DECLARED)].map(([, name = '']) => name.replaceAll('$', '\\$'))
    const mention = new RegExp(`(?<![\\w$.'"])(${names.join('|')})(?![\\w$:])`, 'g')
    const called = (code: string) => code.replace(mention, '$1()')
    const made = called(schemas).replace(SCHEMA, '\tconst $1 = once(() => ($2));\n')
    const fields = called(returned).replace(
      FIELD,
      (_, name: string, value = `${name}()`) => `\t\tget ${name}() { return kept(this, '${name}', ${value}) }`,
    )
    return `function ${factory}() {\n${made}${fields}\n}`
  })
  return PARTS + lazy.replace(METHOD, 'get $1() { return $2 }')
}
