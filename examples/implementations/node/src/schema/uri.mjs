/** References of RFC 3986: splitting and resolving, which `URL` does only for some schemes. */

const PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

const parse = (text) => {
  const [, scheme, authority, path, query, fragment] = PARTS.exec(text);
  return { scheme, authority, path, query, fragment };
};

function withoutDots(path) {
  const out = [];
  const segments = path.split('/');
  segments.forEach((segment, index) => {
    const isLast = index === segments.length - 1;
    if (segment === '..') {
      if (out.length > 1) out.pop();
      if (isLast) out.push('');
    } else if (segment === '.') {
      if (isLast) out.push('');
    } else out.push(segment);
  });
  return out.join('/');
}

function merge(base, path) {
  if (base.authority !== undefined && base.path === '') return `/${path}`;
  return base.path.slice(0, base.path.lastIndexOf('/') + 1) + path;
}

function text({ scheme, authority, path, query }) {
  return (scheme === undefined ? '' : `${scheme}:`) + (authority === undefined ? '' : `//${authority}`) + path
    + (query === undefined ? '' : `?${query}`);
}

/** `[uri, fragment]` of a reference against a base; `fragment` is undefined when there is none. */
export function resolve(baseText, reference) {
  const base = parse(baseText);
  const ref = parse(reference);
  const { fragment } = ref;
  if (ref.scheme !== undefined) return [text({ ...ref, path: withoutDots(ref.path) }), fragment];
  if (ref.authority !== undefined) return [text({ ...ref, scheme: base.scheme, path: withoutDots(ref.path) }), fragment];
  if (ref.path === '') return [text({ ...base, query: ref.query ?? base.query }), fragment];
  const path = withoutDots(ref.path.startsWith('/') ? ref.path : merge(base, ref.path));
  return [text({ ...base, path, query: ref.query }), fragment];
}
