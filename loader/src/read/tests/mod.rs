mod timing;
mod explore;
