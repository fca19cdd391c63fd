#include "models/model_folder.h"

#include <gmock/gmock.h>

#include "config/config_file.h"
#include "host/temp_folder.h"
#include "models/known_models.h"

namespace gainz::host {
namespace {

using test::TempFolder;
using testing::HasSubstr;

struct Place {
  TempFolder folder;
  Settings settings;
  Environment environment;
  Place() { settings.set(key("models"), {Value(folder.file("models")), Source::environment, "GAINZ_MODELS"}); }
  Result<ChosenModel> choose(const std::optional<std::string>& wanted) { return choose_model(settings, environment, wanted); }
};

TEST(HostModelFolder, DefaultIsInTheCacheFolder) {
  EXPECT_EQ(*models_folder(Settings(), {{"HOME", "/h"}}), "/h/.cache/gainz/models");
  EXPECT_EQ(*models_folder(Settings(), {{"XDG_CACHE_HOME", "/c"}}), "/c/gainz/models");
  EXPECT_THAT(models_folder(Settings(), {}).failure().sentence, HasSubstr("GAINZ_MODELS"));
}

TEST(HostModelFolder, ListsModelFilesByName) {
  const TempFolder folder;
  folder.write("b.gguf", "12");
  folder.write("a.gguf", "1");
  folder.write("c.txt", "1");
  folder.write("d.gguf/x", "1");
  const auto files = list_models(folder.path());
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].name, "a.gguf");
  EXPECT_EQ((*files)[1].num_bytes, 2u);
  EXPECT_EQ(list_models(folder.file("none"))->size(), 0u);
  EXPECT_THAT(list_models(folder.file("a.gguf")).failure().sentence, HasSubstr("Not a directory"));
}

TEST(HostModelFolder, APathBeforeANameBeforeAKnownModel) {
  Place place;
  const std::string path = place.folder.write("here.gguf", "x"), named = place.folder.write("models/small.gguf", "x");
  const std::string known = place.folder.write("models/" + known_models()[0].file, "x");
  EXPECT_EQ(place.choose(path)->path, path);
  EXPECT_EQ(place.choose("small.gguf")->path, named);
  EXPECT_EQ(place.choose("small")->path, named);
  EXPECT_EQ(place.choose(known_models()[0].name)->path, known);
  EXPECT_EQ(place.choose(known_models()[0].file)->path, known);
}

TEST(HostModelFolder, AMissingModelTellsHowToGetOne) {
  Place place;
  EXPECT_THAT(place.choose("none.gguf").failure().sentence,
              testing::AllOf(HasSubstr("none.gguf: no such file"), HasSubstr("gainz pull NAME")));
  EXPECT_THAT(place.choose("smollm2-135m").failure().sentence, HasSubstr("`gainz pull smollm2-135m` fetches it"));
  EXPECT_EQ(place.choose("none.gguf").failure().exit_code, kExitFailure);
  EXPECT_THAT(place.choose(std::nullopt).failure().sentence, HasSubstr("no model is given"));
  EXPECT_EQ(place.choose(std::nullopt).failure().exit_code, kExitUsage);
  EXPECT_EQ(place.choose("").failure().exit_code, kExitUsage);
}

TEST(HostModelFolder, ModelsOfTheConfigurationBringTheirOverrides) {
  Place place;
  const std::string a = place.folder.write("a.gguf", "x"), b = place.folder.write("models/b.gguf", "x");
  place.settings.file = place.folder.file("g.toml");
  ASSERT_TRUE(
      parse_config("[[model]]\npath = \"a.gguf\"\nname = \"first\"\ncontext = 5\n[[model]]\npath = \"b.gguf\"\ncontext = 6\n",
                   place.settings.file, place.settings)
          .ok());
  EXPECT_EQ(place.choose(std::nullopt)->path, a);  // relative to the file
  EXPECT_EQ(place.choose(std::nullopt)->settings.integer(key("context")), 5);
  EXPECT_EQ(place.choose("first")->path, a);
  EXPECT_EQ(place.choose("b.gguf")->path, b);
  EXPECT_EQ(place.choose("b.gguf")->settings.integer(key("context")), 6);
  EXPECT_EQ(place.choose(a)->settings.integer(key("context")), 5);  // the same file by its path
}

TEST(HostKnownModels, TheTableIsWhole) {
  for (const KnownModel& model : known_models()) {
    EXPECT_EQ(model.sha256.size(), 64u);
    EXPECT_GT(model.num_bytes, 0u);
    EXPECT_FALSE(model.licence.empty());
    EXPECT_FALSE(model.parts.empty());
    EXPECT_EQ(find_known_model(model.name), &model);
  }
  EXPECT_EQ(find_known_model("nothing"), nullptr);
}

}  // namespace
}  // namespace gainz::host
