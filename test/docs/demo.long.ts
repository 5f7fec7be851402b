import { cutShort } from './cut-short.ts'

cutShort([['--http'], ['--escrow']])
