// Debian has Express, but no `@types/express`.
declare module "express";
