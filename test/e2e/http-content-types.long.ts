// The same in pieces of every size.
import './http-content-types.test.ts'
