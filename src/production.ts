// Imported before everything else: libraries look at NODE_ENV when they are loaded, and some check and explain more, at a
// price for each request, unless it says production. Whoever sets it keeps what they set.
process.env['NODE_ENV'] ??= 'production';
