/** The purpose of a file, by its path. A file may have several kinds; one without any is code. */
export type FileKind = 'test' | 'example' | 'operations' | 'data' | 'generated' | 'prose' | 'changelog'

const KINDS: ReadonlyArray<readonly [kind: FileKind, path: RegExp]> = [
  [
    'test',
    /(^|\/)(tests?|testing|testdata|__tests__|__mocks__|specs?|fixtures?|mocks?|e2e|t|bench(mark)?s?|testsuite|regress)\/|[._-](test|spec|bench)s?\.\w+$|(^|\/)(test_[^/]*|conftest)\.py$|_test\.\w+$/i,
  ],
  [
    'example',
    /(^|\/)(examples?|_examples|demos?|samples?|playground|tutorials?)\/|(^|[._/-])(example|sample|demo)\.\w+$/i,
  ],
  [
    'operations',
    /(^|\/)(\.github|\.gitlab|\.circleci|\.husky|ci|debian)\/|\.(ya?ml|lock)$|(^|\/)(package-lock\.json|npm-shrinkwrap\.json|go\.sum|\.travis\.yml|appveyor\.yml|tox\.ini)$|-lock\.\w+$/i,
  ],
  ['data', /\.(json|jsonl|csv|tsv|svg|xml|po|pot|snap|ipynb|map|patch|diff|html?|css|scss|less)$/i],
  [
    // Vendored files too; see `vendored-folders.ts` for folders of other names.
    'generated',
    /\.d\.[cm]?ts$|\.min\.\w+$|[._]pb(2)?\.\w+$|(^|\/)(dist|deps|vendor(ed)?|third[_-]?party|3rd-?party|externals?|generated|__generated__|autom4te\.cache)\/|(^|\/)(configure|config\.(guess|sub)|ltmain\.sh|aclocal\.m4)$/i,
  ],
  ['changelog', /(^|\/)(change-?log|changes|history|news|releases?|whatsnew|migration|upgrading)(-[^/]*)?(\.\w+)?$/i],
  [
    'prose',
    /\.(md|mdx|rst|txt|adoc|tex|org|[1-9]|texi|pod)$|(^|\/)(readme|license|copying|authors|contributing|notice|install|todo)[^/]*$|(^|\/)docs?\//i,
  ],
]

/** The kinds of a file by its path. */
export function kindsOf(path: string): FileKind[] {
  return KINDS.flatMap(([kind, pattern]) => (pattern.test(path) ? [kind] : []))
}

/**
 * Stems by which a question asks for files of a kind. Stems that questions about code use as well are omitted
 * ("release the lock").
 */
const ASKED: Record<FileKind, ReadonlySet<string>> = {
  test: stems('test spec fixtur mock e2e regress coverag benchmark bench suit'),
  example: stems('exampl demo sampl tutori snippet'),
  operations: stems('ci workflow pipelin github gitlab yaml yml lockfil travi'),
  data: stems('csv svg css stylesheet translat i18n notebook dataset'),
  generated: stems('vendor minifi'),
  changelog: stems('changelog upgrad'),
  prose: stems('doc docum document readm guid licens contribut markdown manual tutori'),
}

function stems(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}

/** The kinds that a question asks for. */
export function kindsAskedFor(terms: readonly string[]): Set<FileKind> {
  const kinds = Object.keys(ASKED) as FileKind[]
  return new Set(kinds.filter((kind) => terms.some((term) => ASKED[kind].has(term))))
}
