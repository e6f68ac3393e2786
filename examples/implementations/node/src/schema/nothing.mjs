/** The mark of a place where nothing stands: `null` and `undefined` are taken. */
export const NOTHING = Symbol('nothing');
