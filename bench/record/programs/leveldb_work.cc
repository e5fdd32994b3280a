// SPDX-License-Identifier: Apache-2.0
// leveldb at work, in memory: keys put in no order, got, iterated over, deleted. Argument: how many.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "helpers/memenv/memenv.h"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"

static std::string key_of(unsigned long i)
{
    char key[32];
    std::snprintf(key, sizeof key, "%016lu", i * 2654435761u % 1000003);
    return key;
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000, found = 0, sum = 0;
    std::unique_ptr<leveldb::Env> env(leveldb::NewMemEnv(leveldb::Env::Default()));
    std::unique_ptr<const leveldb::FilterPolicy> filter(leveldb::NewBloomFilterPolicy(10));
    leveldb::Options options;
    options.env = env.get();
    options.create_if_missing = true;
    options.write_buffer_size = 1 << 20;
    options.filter_policy = filter.get();
    leveldb::DB *opened;
    if (!leveldb::DB::Open(options, "/db", &opened).ok())
        return 1;
    std::unique_ptr<leveldb::DB> db(opened);
    for (unsigned long i = 0; i < count; i++)
        db->Put(leveldb::WriteOptions(), key_of(i), std::string(100, 'a' + (char)(i % 26)));
    for (unsigned long i = 0; i < count; i++) {
        std::string value;
        found += db->Get(leveldb::ReadOptions(), key_of(i * 2), &value).ok();
        sum += value.size();
    }
    std::unique_ptr<leveldb::Iterator> at(db->NewIterator(leveldb::ReadOptions()));
    for (at->SeekToFirst(); at->Valid(); at->Next())
        sum += at->key().size() + at->value().size();
    for (unsigned long i = 0; i < count; i += 3)
        db->Delete(leveldb::WriteOptions(), key_of(i));
    at.reset(db->NewIterator(leveldb::ReadOptions()));
    for (at->SeekToLast(); at->Valid(); at->Prev())
        found++;
    std::printf("%lu found, %lu bytes\n", found, sum);
    at.reset();
    return 0;
}
