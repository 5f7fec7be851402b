import fc from 'fast-check'

/** Spaces, line ends and comments, as people have them anywhere in JSONC. */
const trivia = fc
  .array(fc.constantFrom(' ', '  ', '\t', '\n', '\n    ', '// said, "so": {\n', '/* one */', '/* two\n lines , } */'), {
    maxLength: 3,
  })
  .map((parts) => parts.join(''))

const primitive = fc
  .oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
  .map((value) => JSON.stringify(value))

const { value } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', maxDepth: 3 }, primitive, tie('list'), tie('object')),
  list: fc
    .tuple(fc.array(tie('value'), { maxLength: 3 }), trivia)
    .map(([items, gap]) => `[${gap}${items.join(`,${gap}`)}${gap}]`),
  object: members(fc.string({ maxLength: 8 }), tie('value')),
}))

/** An object as text: members with trivia between all their parts, and now and then a comma after the last. */
function members(name: fc.Arbitrary<string>, of: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const member = fc.record({ name, of, gaps: fc.tuple(trivia, trivia, trivia, trivia) })
  return fc
    .tuple(fc.uniqueArray(member, { selector: (one) => one.name, maxLength: 4 }), trivia, fc.boolean())
    .map(([list, gap, closes]) => {
      const texts = list.map(({ name, of, gaps: [a, b, c, d] }) => `${a}${JSON.stringify(name)}${b}:${c}${of}${d}`)
      return `{${texts.join(',')}${closes && list.length > 0 ? ',' : ''}${gap}}`
    })
}

const server = fc.constantFrom('memory', 'git', 'files', 'a"b')
const servers = members(server, value)

/** The text of a file as an editor takes it: with servers, without, empty, or with comments alone. */
export const jsoncText = fc.oneof(
  { weight: 1, arbitrary: trivia },
  {
    weight: 4,
    arbitrary: fc
      .tuple(trivia, members(fc.constantFrom('theme', 'inputs', 'mcp', 'a b'), value), trivia)
      .map((parts) => parts.join('')),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        trivia,
        fc.constantFrom('', '"theme": "dark",'),
        trivia,
        servers,
        fc.constantFrom('', ',', ', "last": [1]'),
        trivia,
      )
      .map(
        ([before, first, gap, held, last, after]) =>
          `${before}{${first}${gap}"mcpServers":${gap}${held}${last}${gap}}${after}`,
      ),
  },
)

/** The comments of a text, in their order. */
export const commentsOf = (text: string): string[] =>
  [...text.matchAll(/"(?:[^"\\]|\\.)*"|(\/\/[^\n]*|\/\*[\s\S]*?\*\/)/g)].flatMap(([, comment]) => comment ?? [])
