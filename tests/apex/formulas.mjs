// Does each formula fit its fields and its place? Standard input: a JSON list of {path, line, formula, returns, types}.
// Each fault is one line `path:line: text`. Exit code 0: none; 4: some.
import fs from 'node:fs';
import { createRequire } from 'node:module';

const { parseSync } = createRequire(import.meta.url)('sformula');
const FAULTS = 4;

const PLAIN = ['string', 'number', 'boolean', 'date', 'datetime', 'time', 'id', 'picklist', 'multipicklist', 'currency', 'percent'];
const field = { type: 'template', ref: 'T', anyOf: PLAIN.map((type) => ({ type })) };
const text = { type: 'string' };
const condition = { type: 'boolean' };
const declared = (types, returns) => ({
  type: 'function', arguments: types.map((argument) => ({ argument, optional: false })), returns,
});
// Functions of validation rules that the library lacks: their types are all that a check of types needs.
const STAND_INS = {
  ISCHANGED: declared([field], condition),
  ISNEW: declared([], condition),
  PRIORVALUE: declared([field], { type: 'template', ref: 'T' }),
  REGEX: declared([text, text], condition),
};

let faults = 0;
for (const { path, line, formula, returns, types } of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  try {
    parseSync(formula, { inputTypes: { ...types, ...STAND_INS }, returnType: returns });
  } catch (error) {
    faults += 1;
    const at = line + (error.location?.start.line ?? 1) - 1;
    console.log(`${path}:${at}: ${error.name}: ${error.message.replaceAll('\n', ' ')}`);
  }
}
process.exit(faults ? FAULTS : 0);
